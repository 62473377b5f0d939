import { createHash, createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createDpopKey, createDpopProofs, wantsDpop } from "../../../src/auth/dpop.ts";
import type { HttpRequest, HttpResponse } from "../../../src/transport/http-port.ts";

const request: HttpRequest = {
  method: "POST",
  url: new URL("http://127.0.0.1:1/mcp?x=1"),
  headers: { accept: "a" },
  body: "the message",
  signal: new AbortController().signal,
  maxBodyBytes: 1,
};

function response(
  status: number,
  headers: Record<string, string> = {},
): HttpResponse & { wasEnded: boolean } {
  const answer = {
    status,
    headers,
    wasEnded: false,
    body: {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true as const, value: undefined }),
        async return() {
          answer.wasEnded = true;
          return { done: true as const, value: undefined };
        },
      }),
    },
  };
  return answer;
}

function readProof(proof = ""): {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  isSigned: boolean;
} {
  const [header = "", claims = "", signature = ""] = proof.split(".");
  const read = (part: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const key = createPublicKey({ key: read(header)["jwk"] as never, format: "jwk" });
  const isSigned = verify(
    "sha256",
    Buffer.from(`${header}.${claims}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  return { header: read(header), claims: read(claims), isSigned };
}

describe("proofs [AEXT-13]", () => {
  it("are fresh for every request, bound to method, address and token, and show no private key", async () => {
    const key = await createDpopKey();
    const proofs = await createDpopProofs(key);
    const sent: HttpRequest[] = [];
    for (let time = 0; time < 2; time += 1) {
      await proofs.send(request, "the-token", async (ready) => {
        sent.push(ready);
        return response(200);
      });
    }
    const [one, other] = sent.map(({ headers }) => readProof(headers["dpop"]));
    expect(sent[0]).toMatchObject({
      body: "the message",
      method: "POST",
      headers: { accept: "a", authorization: "DPoP the-token" },
    });
    expect(one?.isSigned).toBe(true);
    expect(one?.header).toMatchObject({ typ: "dpop+jwt", alg: "ES256" });
    expect(Object.keys(one?.header["jwk"] as object).sort()).toEqual(["crv", "kty", "x", "y"]);
    expect(one?.claims).toMatchObject({
      htm: "POST",
      htu: "http://127.0.0.1:1/mcp",
      ath: createHash("sha256").update("the-token").digest("base64url"),
    });
    expect(one?.claims["jti"]).not.toBe(other?.claims["jti"]);
    // The same key after it was stored.
    expect((await createDpopProofs(JSON.parse(JSON.stringify(key)) as typeof key)).thumbprint).toBe(
      proofs.thumbprint,
    );
  });
});

describe("nonces [AEXT-14]", () => {
  const challenge = { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "n1" };

  it("are used once more where the server asks for one, and from then on", async () => {
    const proofs = await createDpopProofs(await createDpopKey());
    const first = response(401, challenge);
    const answers = [first, response(200), response(200)];
    const nonces: unknown[] = [];
    const send = async (ready: HttpRequest): Promise<HttpResponse> => {
      nonces.push(readProof(ready.headers["dpop"]).claims["nonce"]);
      return answers.shift() ?? response(500);
    };
    expect((await proofs.send(request, "t", send)).status).toBe(200);
    await proofs.send(request, "t", send);
    expect(nonces).toEqual([undefined, "n1", "n1"]);
    expect(first.wasEnded).toBe(true);
  });

  it("are no reason for a third request", async () => {
    const proofs = await createDpopProofs(await createDpopKey());
    let count = 0;
    const answer = await proofs.send(request, "t", async () => {
      count += 1;
      return response(401, challenge);
    });
    expect([answer.status, count]).toEqual([401, 2]);
  });

  it("are no reason at all where the refusal is another, and a failure stays one", async () => {
    const proofs = await createDpopProofs(await createDpopKey());
    const answer = await proofs.send(request, "t", async () =>
      response(401, { "www-authenticate": 'DPoP error="invalid_token"', "dpop-nonce": "n" }),
    );
    expect(answer.status).toBe(401);
    await expect(proofs.send(request, "t", () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  });
});

describe("wantsDpop [AEXT-12]", () => {
  it.each([
    ["auto", false, ["ES256"], false],
    ["auto", true, ["ES256"], true],
    ["auto", true, null, true],
    ["auto", true, ["RS256"], false],
    ["required", false, null, true],
    ["off", true, ["ES256"], false],
  ] as const)("%s, demanded %s, offered %j: %s", (dpop, isDemanded, dpopAlgorithms, expected) => {
    expect(wantsDpop({ dpop }, { isDemanded, server: { dpopAlgorithms } })).toBe(expected);
  });
});
