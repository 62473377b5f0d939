/** Schema of `auth`: how Portcullis authenticates itself to a remote server. */
import * as z from "zod";
import { lateTextSchema, textSchema } from "./schema-values.ts";

const urlSchema = textSchema(2_048).regex(/^https?:\/\/[^\s#]+$/i, "is no URL: write `https://…`");

const identityProviderSchema = z.strictObject({
  issuer: urlSchema.describe("Issuer of the provider, exactly as it writes itself."),
  tokenEndpoint: urlSchema.describe("Its token endpoint. Default: as its metadata says.").optional(),
  clientId: lateTextSchema.describe("Our client id at the provider."),
  clientSecret: lateTextSchema.describe("Secret of that client: a reference, not a literal.").optional(),
  idToken: lateTextSchema.describe(
    "The user's ID token of the single sign-on: a reference, read for every login.",
  ),
});

export const authSchema = z.strictObject({
  type: z
    .enum(["oauth", "client_credentials", "workload_identity", "enterprise", "bearer", "none"])
    .describe(
      "`oauth`: a person logs in; `client_credentials`: the program itself; `workload_identity`: by the JWT of a workload; `enterprise`: by an organisation's identity provider; `bearer`: a token of one's own in `headers`; `none`: never.",
    ),
  scopes: z
    .array(textSchema(256).regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, "is no OAuth scope"))
    .max(64)
    .describe("Scopes to ask for. Default: what the server says it needs.")
    .optional(),
  issuer: urlSchema
    .describe(
      "The only authorization server that may see these credentials, exactly as it writes itself. Needed where no person logs in.",
    )
    .optional(),
  clientId: lateTextSchema.describe("Client id of a registration of one's own.").optional(),
  clientSecret: lateTextSchema
    .describe("Secret of that registration: a reference, not a literal.")
    .optional(),
  privateKey: lateTextSchema
    .describe(
      "PEM key instead of a secret (`private_key_jwt`): a reference, for example `${file:./key.pem}`.",
    )
    .optional(),
  clientMetadataUrl: textSchema(2_048)
    .regex(/^https:\/\/[^/\s?#]+\/[^\s#]+$/i, "must be an `https://` URL with a path")
    .describe("URL of a client id metadata document that you publish; used where the server takes one.")
    .optional(),
  redirectUri: urlSchema
    .describe("Where the browser is sent back to after a login. Default: a free port on 127.0.0.1.")
    .optional(),
  dpop: z
    .enum(["auto", "required", "off"])
    .describe("Tokens bound to a key. `auto`: where the server asks for it. Default `auto`.")
    .optional(),
  assertion: lateTextSchema
    .describe("The workload's JWT, for `workload_identity`: a reference, read for every token.")
    .optional(),
  identityProvider: identityProviderSchema
    .describe("The organisation's provider, for `enterprise`.")
    .optional(),
  per: z
    .enum(["shared", "principal"])
    .describe("One credential for all, or one for each principal. Default `shared`.")
    .optional(),
});
