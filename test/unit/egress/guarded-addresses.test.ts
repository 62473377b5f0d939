/** No spelling and no DNS answer leads to a forbidden address: shown by a listener on every loopback address. */
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpPort } from "../../../src/egress/dial.ts";
import { PortcullisError } from "../../../src/errors.ts";

let listener: Server;
let port = 0;
let connections = 0;

beforeAll(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, "::", resolve));
  port = (listener.address() as AddressInfo).port;
});

afterAll(async () => {
  await new Promise((resolve) => listener.close(resolve));
});

/** The code with which a request to `url` is refused, under rules that name its origin. */
async function refusal(
  url: URL,
  answers: readonly string[] = [],
  allowPrivateAddresses = false,
): Promise<string> {
  const port = createHttpPort({
    rules: { origins: [url.origin], allow: [], allowPrivateAddresses },
    clock: systemClock,
    resolve: () => Promise.resolve(answers),
  });
  const signal = new AbortController().signal;
  try {
    await port.request({ method: "GET", url, headers: {}, signal, maxBodyBytes: 1000 });
    return "connected";
  } catch (error) {
    return error instanceof PortcullisError ? error.code : String(error);
  } finally {
    await port.close();
  }
}

/** Hosts that the URL parser turns into an address that nobody configured. */
const SPELLINGS = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "127.0.1",
  "127.1.",
  "0x7f.1",
  "0x7f.0.0.1",
  "0x7F.0x0.0x0.0x1",
  "0x7f000001",
  "0X7F000001",
  "2130706433",
  "017700000001",
  "0177.1",
  "0177.0.0.1",
  "00177.0.0.01",
  "127.0.0.0x1",
  "127.255.255.255",
  "127.0.0.2",
  "１２７.０.０.１",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "127．0．0．1",
  "%31%32%37.0.0.1",
  "127.0.0.%31",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
  "[::127.0.0.1]",
  "[::7f00:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[0:0:0:0:0:FFFF:7F00:0001]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2002:7f00:0001::1]",
  "[2001:0:7f00:1::]",
  "[2001::1]",
  "0.0.0.0",
  "0",
  "0x0",
  "00",
  "0.0",
  "0.1.2.3",
  "[::]",
  "[0::0]",
  "[::ffff:0.0.0.0]",
  "10.0.0.1",
  "10.1",
  "0xa.1",
  "012.0.0.1",
  "167772161",
  "172.16.0.1",
  "172.31.255.254",
  "0xac100001",
  "192.168.0.1",
  "0xc0a80001",
  "3232235521",
  "[fc00::1]",
  "[fd00::1]",
  "[FD12::]",
  "[::ffff:10.0.0.1]",
  "[::ffff:c0a8:1]",
  "[fec0::1]",
  "169.254.169.254",
  "169.254.43518",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::a9fe:a9fe]",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "169.254.0.1",
  "[fe80::1]",
  "[febf::1]",
  "100.64.0.1",
  "100.127.255.254",
  "1681915905",
  "224.0.0.1",
  "239.255.255.250",
  "[ff02::1]",
  "255.255.255.255",
  "4294967295",
  "0xffffffff",
  "240.0.0.1",
  "192.0.2.1",
  "198.51.100.7",
  "203.0.113.9",
  "[2001:db8::1]",
  "[3fff::1]",
  "198.18.0.1",
  "192.0.0.8",
  "192.88.99.1",
  "[100::1]",
  "[5f00::1]",
  "[4000::1]",
  "[::2]",
];

/** Answers of a resolver for an innocent name. */
const ANSWERS: readonly (readonly string[])[] = [
  ["127.0.0.1"],
  ["127.0.0.2"],
  ["::1"],
  ["::ffff:127.0.0.1"],
  ["::ffff:7f00:1"],
  ["::7f00:1"],
  ["64:ff9b::7f00:1"],
  ["::1%lo"],
  ["0.0.0.0"],
  ["::"],
  ["10.0.0.1"],
  ["192.168.1.1"],
  ["fd00::1"],
  ["fe80::1%lo"],
  ["169.254.169.254"],
  ["fd00:ec2::254"],
  ["100.64.0.1"],
  ["224.0.0.1"],
  ["2002:7f00:1::"],
  ["2001::1"],
  ["1.1.1.1", "127.0.0.1"],
  ["127.0.0.1", "1.1.1.1"],
  ["2606:4700::1111", "::1"],
  ["1.1.1.1", "10.0.0.1"],
  ["1.1.1.1", "8.8.8.8", "169.254.169.254"],
  ["1.1.1.1", "::ffff:127.0.0.1"],
  ["1.1.1.1", "localhost"],
  ["localhost"],
  ["0x7f.1"],
  ["127.1"],
  [""],
  ["127.0.0.1 "],
  ["example.com"],
];

describe("no forbidden address is connected to [SEC-03] [SEC-06]", () => {
  it("covers at least 120 spellings and answers", () => {
    expect(SPELLINGS.length + ANSWERS.length).toBeGreaterThanOrEqual(120);
  });

  it.each(SPELLINGS)("https://%s", async (host) => {
    expect(await refusal(new URL(`https://${host}:${port}/`))).toBe("egress_denied");
    expect(connections).toBe(0);
  });

  it.each(SPELLINGS)("plain http, which is not allowed at all: http://%s", async (host) => {
    expect(await refusal(new URL(`http://${host}:${port}/`))).toBe("egress_denied");
    expect(connections).toBe(0);
  });

  it.each(ANSWERS.map((answers) => [answers.join(", ") || "(empty)", answers] as const))(
    "an innocent name at %s",
    async (_title, answers) => {
      expect(await refusal(new URL(`https://innocent.test:${port}/`), answers)).toBe("egress_denied");
      expect(connections).toBe(0);
    },
  );

  it.each([
    "169.254.169.254",
    "0.0.0.0",
    "[::]",
    "224.0.0.1",
    "[::7f00:1]",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "[fe80::1]",
  ])("http://%s, also where private addresses are allowed", async (host) => {
    expect(await refusal(new URL(`http://${host}:${port}/`), [], true)).toBe("egress_denied");
    expect(connections).toBe(0);
  });

  it("connects to loopback where that is allowed, so the listener was not deaf", async () => {
    for (const url of [`http://127.1:${port}/`, `http://[::1]:${port}/`]) {
      expect(await refusal(new URL(url), [], true)).toBe("connection_lost");
    }
    expect(await refusal(new URL(`http://named.test:${port}/`), ["127.0.0.1"], true)).toBe("connection_lost");
    expect(connections).toBe(3);
  });
});
