/**
 * What is remembered of authorization servers besides tokens: registrations by issuer (AUTH-17), the origins that a person
 * accepted for a server, which issuer configured credentials belong to, and what a server asked for that nobody has given yet.
 */
import { createHash } from "node:crypto";
import { ownProperty, type JsonObject } from "../base/json.ts";
import type { ClientIdentity } from "./client-identity.ts";
import type { SealedDocuments } from "./sealed-document.ts";

/** A registration that we made, with what it was made for. */
export interface Registration {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly client: ClientIdentity;
  /** Epoch milliseconds; `null`: for good. */
  readonly expiresAt: number | null;
}

/** What a server wanted when it was refused what it needs. */
export interface Wish {
  readonly resourceMetadata: string | null;
  /** `null`: it named none. */
  readonly scopes: readonly string[] | null;
  /** The token was good but did not reach far enough. */
  readonly isStepUp: boolean;
  /** It takes tokens bound to a key only. */
  readonly needsDpop: boolean;
}

/** What a person accepted for a server. */
export interface Acceptance {
  readonly origins: readonly string[];
  /** The issuer that configured credentials were used with; `null`: they were not used yet. */
  readonly issuer: string | null;
}

export interface Credentials {
  registration(issuer: string): Promise<Registration | undefined>;
  keepRegistration(registration: Registration): Promise<void>;
  dropRegistration(issuer: string): Promise<void>;
  acceptance(): Promise<Acceptance>;
  keepAcceptance(acceptance: Acceptance): Promise<void>;
  wish(): Promise<Wish | undefined>;
  keepWish(wish: Wish): Promise<void>;
  dropWish(): Promise<void>;
  /** Everything of this connection; registrations, which others may use, stay. */
  forget(): Promise<void>;
}

/** @param owner `SERVER CREDENTIAL`, as in the keys of tokens. */
export function createCredentials(documents: SealedDocuments, owner: string): Credentials {
  const registrationKey = (issuer: string): string =>
    `client ${createHash("sha256").update(issuer).digest("base64url").slice(0, 22)}`;
  const acceptedKey = `accepted ${owner}`;
  const wishKey = `wish ${owner}`;
  const asJson = (value: object): JsonObject => ({ ...value }) as JsonObject;

  return {
    async registration(issuer) {
      const value = await documents.read(registrationKey(issuer));
      // Of exactly this issuer: a key is only a digest.
      return value?.["issuer"] === issuer ? (value as unknown as Registration) : undefined;
    },
    keepRegistration: (registration) =>
      documents.write(registrationKey(registration.issuer), asJson(registration), {
        issuer: registration.issuer,
      }),
    dropRegistration: (issuer) => documents.delete(registrationKey(issuer)),
    async acceptance() {
      const value = (await documents.read(acceptedKey)) ?? {};
      return {
        origins: (ownProperty(value, "origins") as readonly string[] | undefined) ?? [],
        issuer: (ownProperty(value, "issuer") as string | null | undefined) ?? null,
      };
    },
    keepAcceptance: (acceptance) => documents.write(acceptedKey, asJson(acceptance)),
    wish: async () => (await documents.read(wishKey)) as unknown as Wish | undefined,
    keepWish: (wish) => documents.write(wishKey, asJson(wish)),
    dropWish: () => documents.delete(wishKey),
    async forget() {
      await documents.delete(acceptedKey);
      await documents.delete(wishKey);
    },
  };
}
