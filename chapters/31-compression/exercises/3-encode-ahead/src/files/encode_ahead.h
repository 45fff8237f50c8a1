// Encodes the text files of a site in advance: "style.css.br" beside "style.css".
//
//   const EncodeAheadResult result = EncodeAhead("/srv/www");
//   std::cout << result.written << " files written\n";
//
// A StaticFiles sends such a variant in place of the plain file if the client accepts its coding.
// The first client then waits for no encoder, and neither do the other clients of its loop.
// Files that are too long to be encoded by a loop get variants, too.
//
// The function may run while the site is served and changed. It never leaves half a file under a
// name that is served, even if the machine loses its power.
//
// A variant has the modification time of the file from which it was made, to the nanosecond. If the
// times differ, in whichever direction, it was made from something else: a backup that has been
// restored is older than the variants of its successor.
//
// Interface:
//  * EncodeAhead() brings the variants of all files up to date.
//
// Thread: any; it reads and writes files, so no loop should call it.
// Source: openat(2), fdopendir(3), futimens(3), fsync(2), rename(2), flock(2)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/namespace.h"
#include "compress/accept_encoding.h"

namespace TURTLE_SERVER {

/// The settings of EncodeAhead().
struct EncodeAheadOptions {
  CodingOrder codings = CodingOrder::All();  ///< variants of others are left alone
  std::size_t min_bytes = 1000;              ///< a shorter file is not encoded
  bool remove_orphans = false;               ///< true: removes variants whose plain file is gone
};

/// The outcome of EncodeAhead().
struct EncodeAheadResult {
  std::size_t written = 0;  ///< variants that are new, or have replaced older ones
  std::size_t kept = 0;     ///< variants that were up to date
  std::size_t removed = 0;  ///< stale variants that nothing has replaced, and orphans
  /// One text for each failure: the path relative to the root, ": " and the reason, such as
  /// "docs/a.css: Permission denied".
  std::vector<std::string> failures{};
};

/// Brings the variants of all text files beneath a directory up to date.
///
/// Names that begin with a dot are left out, and so is all that is beneath such a directory.
/// Symbolic links are left out, too, whatever they lead to. A text file is a regular file whose
/// MimeType() is compressible (compress/compressible.h). The variant of a coding has its name and
/// SuffixOf() the coding.
///
/// For each text file and each coding of the options:
///
///  1. If something other than a regular file has the variant's name, it stays.
///  2. A variant with the modification time of the text file is kept, even one of another tool.
///  3. Otherwise a text file of at least `min_bytes` is encoded, with Effort::kHigh. If that makes
///     it shorter, the result becomes the variant, in place of an older one.
///  4. Otherwise there shall be no variant: one that there is gets removed.
///
/// A new variant is written to a file with the name ".encode-ahead" in the same directory, which is
/// created exclusively: one that was left by a process that was killed is removed first, never
/// opened. Before renameat(2) gives the file its name, it is complete: content, permissions and
/// modification time are those that it will have, and fsync(2) has succeeded. The permissions are
/// the text file's (0777), whatever the umask. The time is the one that the text file had before it
/// was read: if it changes meanwhile, the times differ, and the next run makes the variant again.
///
/// An orphan is a regular file whose name ends with the suffix of a coding of the options, without
/// a dot at its beginning. The rest would be the name of a text file, but nothing has that name.
/// It may also be something that the site offers to download, "log.txt.gz". So it stays, unless the
/// options say otherwise.
///
/// No failure with a file or a directory ends the run: there is a text in `failures`, and the rest
/// is done. If the names in a directory can't all be read, nothing in it is changed, and the text
/// has its path, "." for the root. If writing a variant fails, the text has the variant's path. The
/// older variant then stays, and no other file is left. A text file that can't be opened is one
/// failure, and one that can't be read is a failure for each coding.
///
/// Files are read and written in pieces: a file of any length takes some KiB, besides the encoder.
/// Each level of directories takes a descriptor. While it runs, it holds the root's flock(2).
///
/// @param root the directory; may be a symbolic link to one
/// @param options the settings
/// @throws std::system_error, which names the root: it can't be opened as a directory, or another
///     process is encoding it (EWOULDBLOCK). Throws std::bad_alloc, too.
auto EncodeAhead(const std::string& root, const EncodeAheadOptions& options = {})
    -> EncodeAheadResult;

}  // namespace TURTLE_SERVER
