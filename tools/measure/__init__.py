"""The benchmark of `final` beside other servers."""
