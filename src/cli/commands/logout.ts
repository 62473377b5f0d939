import type { CommandRun } from "../main.ts";
import { logout } from "../../operations/login.ts";
import { given, runVerb } from "../verb.ts";

const REVOCATION = {
  revoked: "; the authorization server has revoked the tokens",
  impossible: "; the authorization server has no way to revoke tokens, so they end by themselves",
  failed: "; the authorization server could not be told to revoke the tokens",
} as const;

export const run: CommandRun<{ principal?: string }> = async (context, [server], options) =>
  runVerb(context, logout, { server, ...given({ principal: options.principal }) }, (document) => {
    if (!document.wasLoggedIn) return `nobody was logged in to ${document.server}`;
    const { revocation } = document;
    return `logged out of ${document.server}${revocation === null ? "" : REVOCATION[revocation]}`;
  });
