/** What the refusals of a file system mean to a person (errno(3)). */

const reasons: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EIO", "the disk reported an error"],
  ["ENOENT", "it is not there, or a link to it leads nowhere"],
  ["ENOTDIR", "a file stands where one of its folders should be"],
  ["EEXIST", "something else is in its place"],
  ["EISDIR", "it is a folder"],
  ["ELOOP", "its links go round in circles"],
  ["ENAMETOOLONG", "the name is too long"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
]);

/** Why a file or folder could not be used, for the end of a sentence; the text of `error` where its code is not known. */
export function errnoReason(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return reasons.get(code) ?? (error instanceof Error ? error.message : String(error));
}
