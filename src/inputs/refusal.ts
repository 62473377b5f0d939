/** Why a question of a server is not answered, as the one error that the client turns into the right refusal of its era. */
import { PortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";

/** @param rpcCode what a question that was asked directly (legacy) is answered with. */
export function refusal(reason: string, rpcCode: number = rpcCodes.invalidParams): PortcullisError {
  return new PortcullisError("input_refused", reason, { data: { rpcCode } });
}
