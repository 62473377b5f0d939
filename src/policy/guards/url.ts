/**
 * The `url` guard: the URL leads to one of the hosts, whoever parses it. What parsers disagree about (user names, back
 * slashes, control characters, white space) is refused; what is only written oddly is rewritten to its canonical form
 * (WHATWG URL), so that the server sees what was checked.
 *
 * A host entry is `example.com`, `*.example.com` (its subdomains, not itself), either with a port, or with `http://` before
 * it where plain http may be used. Without a port only the scheme's own port passes.
 */
import type { JsonValue } from "../../base/json.ts";
import { ALLOWED, denied, type ValueVerdict } from "./verdict.ts";

const MAX_CHARACTERS = 8_192;
const SHAPE = /^https?:\/\/[^/?#]+/i;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const TRICKS = /[\u0000-\u0020\u007F-\u00A0\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3000\uFEFF\\]/;

export function checkUrl(value: JsonValue, hosts: readonly string[]): ValueVerdict {
  if (typeof value !== "string") return denied("it is not a text");
  if (value.length > MAX_CHARACTERS) return denied(`it is longer than ${MAX_CHARACTERS} characters`);
  if (!value.isWellFormed() || TRICKS.test(value))
    return denied("it holds white space, a back slash or a character that cannot be seen");
  if (!SHAPE.test(value) || !URL.canParse(value)) return denied("it is not an absolute http or https URL");
  const url = new URL(value);
  const authority = SHAPE.exec(value)?.[0] ?? "";
  if (url.username !== "" || url.password !== "" || authority.includes("@"))
    return denied("it holds a user name");
  if (!hosts.some((host) => fitsHost(url, host))) {
    return denied(`the host \`${url.host}\` is not one of ${hosts.map((host) => `\`${host}\``).join(", ")}`);
  }
  if (url.href === value || url.href === `${value}/`) return ALLOWED;
  return { kind: "rewrite", after: url.href, reason: "the URL was written in its canonical form" };
}

function fitsHost(url: URL, entry: string): boolean {
  const isPlain = entry.startsWith("http://");
  if (url.protocol !== (isPlain ? "http:" : "https:")) return false;
  const bare = entry.replace(/^https?:\/\//, "");
  const isWild = bare.startsWith("*.");
  // The entry goes through the same parser, so that a name outside ASCII is compared in its Punycode form.
  const parsed = URL.parse(`${url.protocol}//${isWild ? bare.slice(2) : bare}`);
  if (parsed === null || parsed.port !== url.port) return false;
  return isWild ? url.hostname.endsWith(`.${parsed.hostname}`) : url.hostname === parsed.hostname;
}
