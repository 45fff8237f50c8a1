"""tools/cpp_functions.py: which functions it sees, and where their bodies are."""

import pathlib

import cpp_functions
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def found(text):
    return {
        function.key: text[slice(*function.body)] if function.body else None
        for function in cpp_functions.functions(text)
    }


def only(text):
    (function,) = cpp_functions.functions(text)
    return function


def test_declaration_and_definition_have_the_same_key():
    declared = only("class A { auto F(const std::string& name = {}, int = 3) const -> int; };")
    defined = only("auto A::F(const std::string& n, int count) const -> int { return 1; }")
    assert declared.key == defined.key == "A::F(const std::string&, int) const"
    assert declared.body is None and declared.required_parameters == 0
    assert defined.required_parameters == 2


def test_overloads_have_different_keys():
    text = "struct A { char* D() { return a; } const char* D() const { return b; } void D(int) {} };"
    assert found(text) == {
        "A::D()": "{ return a; }",
        "A::D() const": "{ return b; }",
        "A::D(int)": "{}",
    }


def test_namespaces_are_transparent_and_classes_are_not():
    text = """
    namespace a::b { inline namespace c { namespace {
    class Outer final : public Base<int, Pair<A, B>> {
     public:
      struct Inner { void F() { if (x) { y(); } } };
      class Later;
      enum class E : int { kA = '{', kB };
    };
    void Outer::Inner::G() {}
    } } }
    extern "C" { void Plain(int x) { } }
    """
    assert list(found(text)) == ["Outer::Inner::F()", "Outer::Inner::G()", "Plain(int)"]


@pytest.mark.parametrize(
    "literal", ['"}"', "'}'", 'R"(})"', 'R"x()" })x"', '"\\"}"', "/* } */ 0", "0 // }\n", "1'000'000", "u8\"}\""]
)
def test_braces_in_literals_and_comments_count_for_nothing(literal):
    text = f"auto F() -> int {{ G({literal}); }}\nvoid H() {{}}"
    assert list(found(text)) == ["F()", "H()"]
    assert found(text)["F()"] == f"{{ G({literal}); }}"


def test_directives_count_for_nothing():
    text = '#define OPEN {\\\n {\n#include "x{.h"\nvoid F() {\n#ifdef A\n  a();\n#endif\n}\nvoid G() {}\n'
    assert list(found(text)) == ["F()", "G()"]


def test_constructors_with_initialisers():
    text = """
    A::A(int x) noexcept : Base<int>(x), a_{1, {2}}, f_([] { return 1; }), p_(x)... { Body(); }
    A::A() try : a_(1) { B(); } catch (...) { C(); }
    A::~A() { D(); }
    struct S { explicit S(int) : a(0) {} S() = default; S(const S&) = delete; int a : 3; };
    """
    functions = cpp_functions.functions(text)
    assert [f.name for f in functions] == ["A::A", "A::A", "A::~A", "S::S", "S::S", "S::S"]
    kinds = [f.kind.value for f in functions]
    assert kinds == ["constructor"] * 2 + ["destructor"] + ["constructor"] * 3
    assert text[slice(*functions[0].body)] == "{ Body(); }"
    assert text[slice(*functions[1].body)] == "{ B(); } catch (...) { C(); }"
    assert "defaulted" in functions[4].specifiers and "deleted" in functions[5].specifiers


def test_a_body_that_is_a_try_block_begins_with_try():
    text = "auto F() -> int try { return G(); } catch (...) { return 0; }\nvoid H() {}"
    assert found(text) == {"F()": "try { return G(); } catch (...) { return 0; }", "H()": "{}"}


def test_operators_and_conversions():
    text = """
    struct A {
      auto operator()(int x) const -> int { return x; }
      auto operator=(A&&) noexcept -> A& { return *this; }
      auto operator<(const A& o) const -> bool { return true; }
      explicit operator bool() const { return true; }
      operator std::vector<int>() const { return {}; }
      friend auto operator==(A a, A b) -> bool { return true; }
      void* operator new(std::size_t n) { return nullptr; }
    };
    auto operator|(E a, E b) -> E { return a; }
    auto operator""_ms(unsigned long long v) -> int { return 1; }
    """
    names = [function.name for function in cpp_functions.functions(text)]
    assert names == [
        "A::operator()", "A::operator=", "A::operator<", "A::operator bool",
        "A::operator std::vector<int>", "A::operator==", "A::operator new", "operator|", 'operator""_ms',
    ]
    assert cpp_functions.functions(text)[3].returns == "bool"


def test_return_types():
    text = """
    std::function<void(int)> Old(int x) { return {}; }
    auto New() -> std::map<int, std::string> { return {}; }
    auto Pointer() const -> decltype(x.y()) { return {}; }
    virtual auto Pure() const -> const std::vector<int>& override = 0;
    [[noreturn]] static void Fail(const char* what) { abort(); }
    template <class T, int N = (1 > 0)> constexpr auto Deduced(T&&... t) { return 1; }
    """
    functions = cpp_functions.functions(text)
    assert [f.returns for f in functions] == [
        "std::function<void(int)>", "std::map<int, std::string>", "decltype(x.y())",
        "const std::vector<int>&", "void", "auto",
    ]
    assert {"noreturn", "static"} <= functions[4].specifiers
    assert {"template", "constexpr"} <= functions[5].specifiers
    assert functions[4].parameters == ("const char*",)


def test_variables_are_no_functions():
    text = """
    const std::vector<int> kNumbers = {1, 2};
    const auto kLambda = [](int x) { return x; };
    std::atomic<int> counter{0};
    Foo one(1), two{2};
    void (*handler)(int) = nullptr;
    int array[3] = {1, 2, 3};
    using F = std::function<void(int)>;
    static_assert(sizeof(int) == 4, "{");
    struct Point { int x = 0; int y{1}; } origin;
    void Real() {}
    """
    assert list(found(text)) == ["Real()"]


def test_thread_safety_annotations():
    text = "struct A { void F() REQUIRES(m_) { x(); } int v GUARDED_BY(m_); void G() EXCLUDES(m_) {} };"
    assert [function.key for function in cpp_functions.definitions(text)] == ["A::F()", "A::G()"]


def test_a_class_with_macros_before_its_name():
    text = 'class MY_CAPABILITY("m") M { void F() { x(); } }; class MY_API C final : B<int> { C() {} };'
    assert [function.key for function in cpp_functions.definitions(text)] == ["M::F()", "C::C()"]


def test_comment_and_first_sentence():
    text = "  /// Reads at most `n` bytes, e.g. from a socket. Never blocks.\n  ///\n  /// @return bytes\n  auto R() -> int;"
    comment = cpp_functions.comment_above(text, only(text).start)
    assert cpp_functions.first_sentence(comment) == "Reads at most `n` bytes, e.g. from a socket."
    assert cpp_functions.first_sentence("@return the number\nof things") == "the number of things"
    assert cpp_functions.first_sentence("") == ""
    assert cpp_functions.first_sentence("No box: IsOpen() is false. Else") == "No box: IsOpen() is false."
    assert cpp_functions.comment_above("int x;\nvoid F();", 7) == ""
    text = "void F();  // once more\n// not this\nvoid G();"
    assert [cpp_functions.comment_behind(text, each.end) for each in cpp_functions.functions(text)] == ["once more", ""]


def test_normalised_bodies():
    assert cpp_functions.normalised("{ a(); // why\n}") == cpp_functions.normalised("{\n  a();\n}")
    assert cpp_functions.normalised('{ f("a  b"); }') != cpp_functions.normalised('{ f("a b"); }')
    assert cpp_functions.normalised('{ f("//x"); }') != cpp_functions.normalised('{ f("//y"); }')


def test_classes_without_default_constructor():
    text = """
    class Needs { explicit Needs(int x); Needs(const Needs&); };
    class Has { Has(int x = 0); };
    class Plain { void F(); };
    class Explicit { explicit Explicit(); };
    class MoveOnly { MoveOnly() noexcept; MoveOnly(MoveOnly&&); };
    """
    assert cpp_functions.without_default_constructor(cpp_functions.functions(text)) == {"Needs", "Explicit"}


def test_every_source_of_the_book_is_understood():
    """Each body is balanced and each constructor belongs to a class: nothing was misread."""
    sources = [*ROOT.glob("chapters/*/src/**/*.cpp"), *ROOT.glob("chapters/*/src/**/*.h")]
    assert sources
    seen = 0
    for path in sources:
        text = path.read_text(encoding="utf-8")
        masked = cpp_functions.mask(text)
        assert len(masked) == len(text)
        for function in cpp_functions.definitions(text):
            body = masked[slice(*function.body)]
            assert body.startswith(("{", "try")) and body.endswith("}"), f"{path}: {function.key}"
            assert body.count("{") == body.count("}"), f"{path}: {function.key}"
            assert function.returns or function.kind is not cpp_functions.Kind.FUNCTION, f"{path}: {function.key}"
            seen += 1
    assert seen > 20
