/**
 * Owners of resources. Whatever is opened is owned by one lifetime and ends with it, last opened first; a failing end
 * does not keep the others from ending. `countOpenLifetimes()` is what the test suite's leak check reads.
 */

/** Something that ends: `close` resolves when it is really gone. */
export interface Closable {
  close(): Promise<unknown> | void;
}

export interface Lifetime {
  readonly name: string;
  readonly isClosed: boolean;
  /** Aborted at the first call of `close`, before any resource ends. */
  readonly signal: AbortSignal;
  /** Takes `resource` over and returns it. On a closed lifetime the resource is closed at once and an error thrown. */
  own<T extends Closable>(resource: T): T;
  /** Like `own`, for an end that is a function. */
  onClose(end: () => Promise<unknown> | void): void;
  /** Ends `resource` now and gives it up. */
  release(resource: Closable): Promise<void>;
  /**
   * Ends everything, last first. Calling it again returns the same promise.
   *
   * @throws what the one end threw that failed, or an AggregateError where several did.
   */
  close(): Promise<void>;
}

const openLifetimes = new Set<string>();
let serial = 0;

/** The names of lifetimes that are open now. */
export function listOpenLifetimes(): readonly string[] {
  return [...openLifetimes];
}

/** @param name says in a leak report who forgot to close, for example `host` or `connection github`. */
export function createLifetime(name: string): Lifetime {
  serial += 1;
  const id = `${name}#${serial}`;
  const controller = new AbortController();
  const resources: Closable[] = [];
  let closing: Promise<void> | undefined;
  openLifetimes.add(id);

  const end = async (): Promise<void> => {
    controller.abort(new Error(`${name} is closed`));
    const failures: unknown[] = [];
    for (let resource = resources.pop(); resource !== undefined; resource = resources.pop()) {
      try {
        await resource.close();
      } catch (error) {
        failures.push(error);
      }
    }
    openLifetimes.delete(id);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1)
      throw new AggregateError(failures, `${name}: ${failures.length} resources did not end well`);
  };

  return {
    name,
    get isClosed() {
      return closing !== undefined;
    },
    signal: controller.signal,
    own(resource) {
      if (closing !== undefined) {
        void Promise.resolve(resource.close()).catch(() => undefined);
        throw new Error(`${name} is closed`);
      }
      resources.push(resource);
      return resource;
    },
    onClose(endResource) {
      this.own({ close: endResource });
    },
    async release(resource) {
      const at = resources.lastIndexOf(resource);
      if (at < 0) return;
      resources.splice(at, 1);
      await resource.close();
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}
