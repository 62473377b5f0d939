/**
 * The contract suite of the store port: every clause of `store.ts` as cases that throw where it does not hold. No test
 * framework is needed: run each case, and a rejection is a failure.
 */
import { documentCases } from "./contract/documents.ts";
import { leaseCases } from "./contract/leases.ts";
import { pruneCases } from "./contract/prune.ts";
import { recordCases } from "./contract/records.ts";
import { sharingCases } from "./contract/sharing.ts";
import type { Store } from "./store.ts";

/** One fresh, empty state that several stores can be opened on. */
export interface ContractState {
  /** Opens a store on the state, in this process. */
  open(): Promise<Store>;
  /** Opens one in another process, where the implementation can be shared by several. Default: `open`. */
  openOther?(): Promise<Store>;
  /** Called when the case is over and its stores are closed. */
  dispose(): Promise<void>;
}

/** What a case works with. Stores that it opens are closed after it. */
interface ContractStores {
  open(): Promise<Store>;
  openOther(): Promise<Store>;
}

export interface ContractCase {
  readonly name: string;
  readonly run: (stores: ContractStores) => Promise<void>;
}

/**
 * The cases, each on a state of its own.
 *
 * @param createState makes a fresh state; called once per case.
 * @returns `run` rejects where the clause that `name` tells does not hold.
 */
export function storeContract(
  createState: () => Promise<ContractState>,
): readonly { readonly name: string; readonly run: () => Promise<void> }[] {
  const cases = [...documentCases, ...recordCases, ...pruneCases, ...leaseCases, ...sharingCases];
  return cases.map(({ name, run }) => ({ name, run: () => runOnState(run, createState) }));
}

async function runOnState(
  run: ContractCase["run"],
  createState: () => Promise<ContractState>,
): Promise<void> {
  const state = await createState();
  const opened: Store[] = [];
  const keep = async (opening: Promise<Store>): Promise<Store> => {
    const store = await opening;
    opened.push(store);
    return store;
  };
  try {
    await run({
      open: () => keep(state.open()),
      openOther: () => keep(state.openOther === undefined ? state.open() : state.openOther()),
    });
  } finally {
    for (const store of opened) await store.close();
    await state.dispose();
  }
}
