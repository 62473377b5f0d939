/** What the pages know: the answer of one operation, asked again whenever something happens that may change it. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { HostEvent } from "../../src/telemetry/events.ts";
import type { Api } from "./api.ts";
import { ApiError } from "./api.ts";

export type Query<Output> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: ApiError }
  | { readonly state: "loaded"; readonly output: Output };

export type Subscribe = (listener: (event: HostEvent) => void) => () => void;

/** After these the inbox may hold something else. */
export const APPROVAL_CHANGES = ["approval.requested", "approval.answered", "call.closed"] as const;

const SOON_MS = 120;

/** @param changes event types after which the answer may be another one. */
export function useQuery<Output>(
  api: Api,
  subscribe: Subscribe,
  operation: string,
  changes: readonly HostEvent["type"][],
): readonly [Query<Output>, () => void] {
  const [query, setQuery] = useState<Query<Output>>({ state: "loading" });
  const asked = useRef(0);
  const ask = useCallback(() => {
    asked.current += 1;
    const mine = asked.current;
    // An answer that was overtaken by a newer question is dropped.
    api.run<Output>(operation).then(
      (output) => mine === asked.current && setQuery({ state: "loaded", output }),
      (error: unknown) => mine === asked.current && setQuery({ state: "failed", error: toApiError(error) }),
    );
  }, [api, operation]);

  useEffect(() => {
    ask();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wanted = new Set<string>(changes);
    const off = subscribe((event) => {
      if (!wanted.has(event.type) || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        ask();
      }, SOON_MS);
    });
    return () => {
      off();
      clearTimeout(timer);
    };
    // The list of changes is a constant of each page.
  }, [ask, subscribe]);
  return [query, ask];
}

export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError
    ? error
    : new ApiError(
        "server_unavailable",
        "the gateway does not answer",
        "Is `portcullis serve` still running?",
      );
}
