/**
 * Interleaved rounds: in each, every contender does the same work in turn, so that what else the machine does falls on all of
 * them. What counts is the ratio to the floor of the same round.
 */
import type { Connected, Contender } from "./contender.ts";

export interface Work {
  readonly rounds: number;
  /** Calls one at a time, per round. */
  readonly sequential: number;
  /** Calls with `atOnce` in flight, per round. */
  readonly concurrent: number;
  readonly atOnce: number;
}

/** One contender in one round. */
interface Sample {
  readonly medianUs: number;
  readonly callsPerSecond: number;
  /** Of this process, per call at once. */
  readonly cpuUs: number;
}

export interface Row {
  readonly contender: Contender;
  readonly medianUs: number;
  readonly medianRatio: number;
  /** How much longer than the floor one call takes. */
  readonly aboveFloorUs: number;
  readonly callsPerSecond: number;
  readonly throughputRatio: number;
  readonly cpuUs: number;
  readonly cpuRatio: number;
}

const WARM_UP_ROUNDS = 3;

export async function compare(contenders: readonly Contender[], work: Work): Promise<Row[]> {
  const connected: { contender: Contender; connection: Connected; samples: Sample[] }[] = [];
  try {
    for (const contender of contenders)
      connected.push({ contender, connection: await contender.connect(), samples: [] });
    // The first calls of a program run unoptimised code; they say nothing about it.
    for (let warmUp = 0; warmUp < WARM_UP_ROUNDS; warmUp += 1) {
      for (const { connection } of connected) await measure(connection, work);
    }
    for (let round = 0; round < work.rounds; round += 1) {
      // Who comes first changes, so that nobody always follows the same neighbour.
      for (let turn = 0; turn < connected.length; turn += 1) {
        const entry = connected[(turn + round) % connected.length];
        entry?.samples.push(await measure(entry.connection, work));
      }
    }
  } finally {
    for (const { connection } of connected) await connection.close();
  }
  return connected.map(({ contender, samples }) => {
    const floor = connected.find(
      (entry) => entry.contender.isFloor === true && entry.contender.transport === contender.transport,
    );
    const beside = (compared: (sample: Sample, floor: Sample) => number): number =>
      median(samples.map((sample, round) => compared(sample, floor?.samples[round] ?? sample)));
    const ratio = (of: (sample: Sample) => number): number =>
      beside((sample, floorSample) => of(sample) / of(floorSample));
    return {
      contender,
      medianUs: median(samples.map((sample) => sample.medianUs)),
      medianRatio: ratio((sample) => sample.medianUs),
      aboveFloorUs: beside((sample, floorSample) => sample.medianUs - floorSample.medianUs),
      callsPerSecond: median(samples.map((sample) => sample.callsPerSecond)),
      throughputRatio: ratio((sample) => sample.callsPerSecond),
      cpuUs: median(samples.map((sample) => sample.cpuUs)),
      cpuRatio: ratio((sample) => sample.cpuUs),
    };
  });
}

async function measure(connection: Connected, work: Work): Promise<Sample> {
  const times: number[] = [];
  for (let index = 0; index < work.sequential; index += 1) {
    const startedMs = performance.now();
    await callOnce(connection, index);
    times.push(performance.now() - startedMs);
  }
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < work.concurrent; index = next++) await callOnce(connection, index);
  };
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: work.atOnce }, worker));
  const tookMs = performance.now() - startedMs;
  const used = process.cpuUsage(cpu);
  return {
    medianUs: median(times) * 1_000,
    callsPerSecond: (work.concurrent / tookMs) * 1_000,
    cpuUs: (used.user + used.system) / work.concurrent,
  };
}

async function callOnce(connection: Connected, index: number): Promise<void> {
  const message = `message ${index}`;
  if ((await connection.call("echo", { message })) !== message) throw new Error("the answer of another call");
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
