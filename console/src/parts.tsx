/** Small things that all pages show alike. */
import type { ReactNode } from "react";
import type { Query } from "./query.ts";

export function Loaded<Output>({
  query,
  children,
}: {
  readonly query: Query<Output>;
  readonly children: (output: Output) => ReactNode;
}) {
  switch (query.state) {
    case "loading":
      return <p className="quiet">One moment …</p>;
    case "failed":
      return (
        <p className="problem" role="alert">
          {query.error.message}. {query.error.help}
        </p>
      );
    case "loaded":
      return <>{children(query.output)}</>;
  }
}

const GRADES: Readonly<Record<string, string>> = {
  L0: "reads",
  L1: "reversible write",
  L2: "hard to reverse",
  L3: "irreversible, money, law",
  off: "turned off",
};

export function Grade({ grade }: { readonly grade: string | null }) {
  if (grade === null) return <span className="grade">?</span>;
  return (
    <span className={`grade ${grade}`} title={GRADES[grade]}>
      {grade}
    </span>
  );
}

/** Local time; the date where it is not today. */
export function Time({ at }: { readonly at: string | number }) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return (
    <time dateTime={time.toISOString()} title={time.toISOString()}>
      {isToday ? time.toLocaleTimeString() : time.toLocaleString()}
    </time>
  );
}
