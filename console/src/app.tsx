/** The frame: which page, whether the gateway is there, how many questions wait. */
import { useEffect, useMemo, useState } from "react";
import type { HostEvent } from "../../src/telemetry/events.ts";
import type { ApprovalView } from "../../src/approvals/view.ts";
import { Activity } from "./activity.tsx";
import { createApi, type Api } from "./api.ts";
import { Approvals } from "./approvals.tsx";
import { APPROVAL_CHANGES, useQuery, type Subscribe } from "./query.ts";
import { Servers } from "./servers.tsx";
import { forgetToken, readToken } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { Tools } from "./tools.tsx";

const PAGES = ["Approvals", "Servers", "Tools", "Activity"] as const;
type Page = (typeof PAGES)[number];

function pageOf(path: string): Page {
  return PAGES.find((page) => `/${page.toLowerCase()}` === path) ?? "Approvals";
}

export function App() {
  const [token, setToken] = useState(readToken);
  const [wasRefused, setRefused] = useState(false);
  if (token === null) return <SignIn onToken={setToken} wasRefused={wasRefused} />;
  const forget = (): void => {
    forgetToken();
    setRefused(true);
    setToken(null);
  };
  return <Console token={token} onUnauthorized={forget} />;
}

function Console({ token, onUnauthorized }: { readonly token: string; readonly onUnauthorized: () => void }) {
  const [api] = useState(() => createApi(token, onUnauthorized));
  const { subscribe, isLive } = useEvents(api);
  const [page, setPage] = useState<Page>(() => pageOf(location.pathname));
  const [waiting] = useQuery<{ approvals: readonly ApprovalView[] }>(
    api,
    subscribe,
    "approvals",
    APPROVAL_CHANGES,
  );
  const count = waiting.state === "loaded" ? waiting.output.approvals.length : 0;

  useEffect(() => {
    const onBack = (): void => setPage(pageOf(location.pathname));
    addEventListener("popstate", onBack);
    return () => removeEventListener("popstate", onBack);
  }, []);
  useEffect(() => {
    document.title = count === 0 ? "Portcullis" : `(${count}) Portcullis`;
  }, [count]);

  const go = (to: Page): void => {
    history.pushState(null, "", `/${to.toLowerCase()}`);
    setPage(to);
  };
  const shared = { api, subscribe };
  return (
    <>
      <header>
        <span className="brand">Portcullis</span>
        <nav aria-label="Pages">
          {PAGES.map((name) => (
            <a
              key={name}
              href={`/${name.toLowerCase()}`}
              aria-current={name === page ? "page" : undefined}
              onClick={(event) => {
                event.preventDefault();
                go(name);
              }}
            >
              {name}
              {name === "Approvals" && count > 0 ? <span className="count">{count}</span> : null}
            </a>
          ))}
        </nav>
        <span className={isLive ? "live" : "live off"} role="status">
          {isLive ? "live" : "the gateway does not answer"}
        </span>
      </header>
      <main>
        <h1>{page}</h1>
        {page === "Approvals" ? <Approvals {...shared} /> : null}
        {page === "Servers" ? <Servers {...shared} /> : null}
        {page === "Tools" ? <Tools {...shared} /> : null}
        {page === "Activity" ? <Activity {...shared} /> : null}
      </main>
    </>
  );
}

function useEvents(api: Api): { readonly subscribe: Subscribe; readonly isLive: boolean } {
  const [isLive, setLive] = useState(false);
  const listeners = useMemo(() => new Set<(event: HostEvent) => void>(), []);
  useEffect(() => {
    const controller = new AbortController();
    void api.listen(
      (event) => {
        for (const listener of listeners) listener(event);
      },
      setLive,
      controller.signal,
    );
    return () => controller.abort();
  }, [api, listeners]);
  const subscribe = useMemo<Subscribe>(
    () => (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    [listeners],
  );
  return { subscribe, isLive };
}
