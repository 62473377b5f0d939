/** How one connection authenticates itself, with every reference of its entry resolved. Values, made just before they are used. */

/** How a token is got: by a person who logs in, or by the program itself. */
export type GrantKind = "person" | "client_credentials" | "workload_identity" | "enterprise";

/** The identity provider of an organisation (enterprise-managed authorization). */
export interface IdentityProvider {
  readonly issuer: string;
  /** `null`: read from the metadata of `issuer`. */
  readonly tokenEndpoint: string | null;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** The user's ID token, as the provider issued it at single sign-on. */
  readonly idToken: string;
}

export interface AuthSettings {
  readonly grant: GrantKind;
  readonly scopes: readonly string[];
  /** The only authorization server that may get these credentials; `null`: the one that a person accepts at login. */
  readonly issuer: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** PEM of the key for `private_key_jwt`. */
  readonly privateKey: string | null;
  /** URL of a client id metadata document that describes this installation. */
  readonly clientMetadataUrl: string | null;
  /** Where the authorization server sends the browser back to; `null`: a free port of this machine. */
  readonly redirectUri: string | null;
  /** `auto`: where the server or its metadata asks for it. */
  readonly dpop: "auto" | "required" | "off";
  /** The workload's JWT, for `workload_identity`. */
  readonly assertion: string | null;
  readonly identityProvider: IdentityProvider | null;
}

/** Resolves the settings. @throws PortcullisError `secret_unresolved`, or the signal's reason. */
export type ReadSettings = (signal: AbortSignal) => Promise<AuthSettings>;

/** A person without anything configured. */
export const PLAIN_SETTINGS: AuthSettings = {
  grant: "person",
  scopes: [],
  issuer: null,
  clientId: null,
  clientSecret: null,
  privateKey: null,
  clientMetadataUrl: null,
  redirectUri: null,
  dpop: "auto",
  assertion: null,
  identityProvider: null,
};
