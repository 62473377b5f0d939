/** Offers to take a call back: kept sealed for 30 seconds, taken once, by the principal of the call alone. */
import { offerUndo } from "../approvals/undo.ts";
import type { ArgumentOrigin } from "../approvals/details.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, parseJson, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Documents } from "../store/store.ts";
import type { Principal } from "../vocabulary.ts";
import type { Prepared } from "./prepare.ts";

export interface TakenUndo {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly origins: readonly ArgumentOrigin[];
}

export interface Undos {
  /** @returns until when the call can be taken back, epoch milliseconds; `null` where its rule does not say how. */
  offer(callId: string, principal: Principal, plan: Prepared, raw: unknown): null | Promise<number>;
  /** Takes the offer: nobody else gets it. @throws PortcullisError `undo_gone`. */
  take(callId: string, principal: Principal): Promise<TakenUndo>;
}

export interface UndosOptions {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly sealer: {
    seal(plain: string, purpose: string): string;
    open(sealed: string, purpose: string): string | undefined;
  };
}

export function createUndos({ documents, clock, sealer }: UndosOptions): Undos {
  return {
    offer(callId, principal, { server, tool, policy, arguments: args }, raw) {
      if (policy.undo === null) return null;
      const verdict = offerUndo({
        undo: policy.undo,
        from: `${server.name} ${tool.entry.name}`,
        arguments: args,
        result: raw,
        at: clock.now(),
      });
      if (verdict.kind === "none") return null;
      const { until, tool: undoTool, arguments: undoArgs, origins } = verdict.offer;
      const plain = JSON.stringify({
        principal,
        server: server.name,
        tool: undoTool,
        arguments: undoArgs,
        origins,
      });
      const sealed = sealer.seal(plain, `undo ${callId}`);
      return documents.put("undos", callId, sealed, { expiresAt: until, durable: false }).then(() => until);
    },
    async take(callId, principal) {
      const stored = await documents.get("undos", callId);
      const text =
        typeof stored?.value === "string" ? sealer.open(stored.value, `undo ${callId}`) : undefined;
      const offer = text === undefined ? undefined : parseJson(text);
      if (!isJsonObject(offer) || offer["principal"] !== principal || stored === undefined)
        throw gone(callId);
      if (!(await documents.delete("undos", callId, stored.version))) throw gone(callId);
      return offer as unknown as TakenUndo;
    },
  };
}

function gone(callId: string): PortcullisError {
  return new PortcullisError(
    "undo_gone",
    `the call \`${callId}\` cannot be taken back: it is too late, was taken back before, or its rule does not say how`,
  );
}
