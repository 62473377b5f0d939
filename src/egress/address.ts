/**
 * What kind of place an IP address is (RFC 6890 and the IANA special-purpose registries). Pure. Addresses that carry
 * another one inside (IPv4-mapped, NAT64) are judged by the inner one; everything that is not surely public is not
 * `public`: unknown ranges fail closed.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type AddressClass =
  | "public"
  /** RFC 6052 well-known prefix around a public IPv4 address. */
  | "nat64"
  | "loopback"
  /** RFC 1918 and unique-local IPv6. */
  | "private"
  | "link-local"
  /** RFC 6598, shared address space of carriers and overlay networks. */
  | "cgnat"
  /** A cloud's metadata or credential service, wherever its address lies. */
  | "metadata"
  | "multicast"
  | "broadcast"
  /** `0.0.0.0/8` and `::`, which many systems connect to themselves. */
  | "unspecified"
  | "documentation"
  | "6to4"
  | "teredo"
  | "reserved"
  /** Not an IP address in strict notation. */
  | "invalid";

/** AWS, Azure, Google, Oracle, DigitalOcean, Hetzner; ECS and EKS credentials; Azure's wire server; Alibaba; AWS over IPv6. */
const METADATA: ReadonlySet<string> = new Set([
  "169.254.169.254",
  "169.254.169.123",
  "169.254.169.253",
  "169.254.169.249",
  "169.254.170.2",
  "169.254.170.23",
  "168.63.129.16",
  "100.100.100.200",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::253",
  "fd00:ec2::123",
  "fd00:ec2::23",
  "fd20:ce::254",
]);

const DOCUMENTATION_V4 = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"].map((range) =>
  ipaddr.IPv4.parseCIDR(range),
);
const DOCUMENTATION_V6 = ["2001:db8::/32", "3fff::/20"].map((range) => ipaddr.IPv6.parseCIDR(range));
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Classifies an address in the notation that resolvers and sockets give (`192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`).
 * Other spellings (`0x7f.1`, brackets) are `invalid`: a URL parser has to normalise them first.
 */
export function classifyAddress(text: string): AddressClass {
  const family = isIP(text);
  if (family === 4) return classifyV4(ipaddr.IPv4.parse(text));
  if (family === 6) return classifyV6(text);
  return "invalid";
}

/** The names of ipaddr.js for ranges, as ours; a name that is not here is `reserved`, whatever it comes to mean. */
const V4_CLASSES: ReadonlyMap<string, AddressClass> = new Map([
  ["unicast", "public"],
  ["loopback", "loopback"],
  ["private", "private"],
  ["multicast", "multicast"],
  ["broadcast", "broadcast"],
  ["unspecified", "unspecified"],
  ["linkLocal", "link-local"],
  ["carrierGradeNat", "cgnat"],
]);
const V6_CLASSES: ReadonlyMap<string, AddressClass> = new Map([
  ["loopback", "loopback"],
  ["uniqueLocal", "private"],
  ["multicast", "multicast"],
  ["unspecified", "unspecified"],
  ["linkLocal", "link-local"],
  ["6to4", "6to4"],
  ["teredo", "teredo"],
]);

function classifyV4(address: ipaddr.IPv4): AddressClass {
  if (METADATA.has(address.toString())) return "metadata";
  if (DOCUMENTATION_V4.some((range) => address.match(range))) return "documentation";
  return V4_CLASSES.get(address.range()) ?? "reserved";
}

function classifyV6(text: string): AddressClass {
  // The text form decides nothing: `::1.2.3.4` and `::102:304` must be the same address, so the URL parser spells it.
  const address = ipaddr.IPv6.parse(new URL(`http://[${text.replace(/%.*$/s, "")}]`).hostname.slice(1, -1));
  if (METADATA.has(address.toString())) return "metadata";
  if (address.isIPv4MappedAddress()) return classifyV4(address.toIPv4Address());
  if (address.match(NAT64)) {
    const inner = classifyV4(new ipaddr.IPv4(address.toByteArray().slice(12)));
    return inner === "public" ? "nat64" : inner;
  }
  if (DOCUMENTATION_V6.some((range) => address.match(range))) return "documentation";
  const range = address.range();
  if (range === "unicast") return address.match(GLOBAL_UNICAST_V6) ? "public" : "reserved";
  return V6_CLASSES.get(range) ?? "reserved";
}
