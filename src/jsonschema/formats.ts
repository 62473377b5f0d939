/** `format` as an assertion, only where it is asked for: a few formats that can be checked in linear time. Others always pass. */

/** A test of one string; each is linear. */
export type TestFormat = (text: string) => boolean;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,20})?(?:[zZ]|([+-])(\d{2}):(\d{2}))$/;
const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const URI_SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]{0,30}:/;
const NOT_IN_URI = /[^\x21-\x7e]|[<>"{}|\\^`]/;
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/;

function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (parts === null) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

function isTime(text: string): boolean {
  const parts = TIME.exec(text);
  if (parts === null) return false;
  const [hour, minute, second] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const [offsetHour, offsetMinute] = [Number(parts[5] ?? 0), Number(parts[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is the last one of a day in UTC.
  const sign = parts[4] === "-" ? 1 : -1;
  const inUtc = hour * 60 + minute + sign * (offsetHour * 60 + offsetMinute);
  return (inUtc + 2 * 1440) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  return /^[tT]$/.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return (
    text.length <= 15 &&
    parts.length === 4 &&
    parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

/** RFC 4291, 2.2: eight groups, one run of zeros as `::`, the last two as an IPv4 address; no zone. */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const all = groups.flat();
  const last = all.at(-1) ?? "";
  const hasIpv4 = last.includes(".");
  if (hasIpv4 && (!isIpv4(last) || groups.at(-1)?.length === 0)) return false;
  const isHex = all.every(
    (group, at) => (hasIpv4 && at === all.length - 1) || /^[0-9a-fA-F]{1,4}$/.test(group),
  );
  const count = all.length + (hasIpv4 ? 1 : 0);
  return isHex && (halves.length === 2 ? count <= 7 : count === 8);
}

function isHost(text: string): boolean {
  if (text.length > 253) return false;
  return text
    .split(".")
    .every((label) => /^[A-Za-z0-9-]{1,63}$/.test(label) && !label.startsWith("-") && !label.endsWith("-"));
}

function isEmail(text: string): boolean {
  if (text.length > 320) return false;
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  const domain = text.slice(at + 1);
  const isDotted = local.startsWith(".") || local.endsWith(".") || local.includes("..");
  const isLocal =
    (LOCAL_PART.test(local) && !isDotted) || /^"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,62}"$/.test(local);
  if (!isLocal) return false;
  if (!domain.startsWith("[")) return isHost(domain);
  const address = domain.slice(1, -1);
  if (!domain.endsWith("]")) return false;
  return isIpv4(address) || (address.startsWith("IPv6:") && isIpv6(address.slice(5)));
}

function isUri(text: string): boolean {
  if (!URI_SCHEME.test(text) || NOT_IN_URI.test(text) || BAD_ESCAPE.test(text)) return false;
  const authority = /^[^:]{1,40}:\/\/([^/?#]*)/.exec(text)?.[1];
  if (authority === undefined) return !/[[\]]/.test(text);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const userInfo = authority.slice(0, Math.max(0, authority.lastIndexOf("@")));
  if (/[[\]]/.test(userInfo)) return false;
  return /^(?:\[[0-9a-fA-Fv:.]{1,60}\]|[^[\]:]*)(?::\d{0,5})?$/.test(host);
}

const tests: Readonly<Record<string, TestFormat>> = {
  date: isDate,
  time: isTime,
  "date-time": isDateTime,
  email: isEmail,
  uri: isUri,
  uuid: (text) => UUID.test(text),
  ipv4: isIpv4,
  ipv6: isIpv6,
};

/** The test for `format`; `undefined` for a format that is only an annotation. */
export function formatTest(format: string): TestFormat | undefined {
  return Object.hasOwn(tests, format) ? tests[format] : undefined;
}
