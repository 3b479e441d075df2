import { z } from 'zod';

/** `ok`: nothing to do · `warn`: look at it today · `bad`: people notice it now. */
const State = z.enum(['ok', 'warn', 'bad']);

const Part = z.object({
  state: State,
  /** One sentence. */
  text: z.string(),
  /** What to do about it; absent if it is `ok`. */
  next: z.string().optional(),
});

/** How the service does, by fixed rules: the same facts give the same text. */
export const HealthReply = z.object({
  /** That of the worst part. */
  verdict: State,
  /** Whether messages are taken, and work gets to workers. */
  flow: Part,
  /** Whether models, tools and this project's own code succeed. */
  execution: Part,
  /** Whether workers live, and look after runs that lost something. */
  liveness: Part,
  /** Whether questions are answered. */
  people: Part,
  /** The one thing to do first. */
  next: z.string(),
});
export type HealthReply = z.infer<typeof HealthReply>;
export type HealthPart = z.infer<typeof Part>;

const HOUR_S = 60 * 60;

export const HealthQuery = z.object({
  /** The period that is judged, in seconds. */
  period: z.coerce
    .number()
    .int()
    .min(60)
    .max(24 * HOUR_S)
    .default(HOUR_S),
});

/** What health is judged by. */
export interface HealthFacts {
  periodMs: number;
  /** Undefined while Temporal does not answer. */
  queues:
    | {
        taskQueue: string;
        /** Workers that poll for runs, for steps and for tools. */
        pollers: { runs: number; steps: number; tools: number };
        /** Tasks that wait for a worker, and the age of the oldest, ms. */
        backlog: number;
        backlogAgeMs: number;
      }
    | undefined;
  /** What the record knows, or why it does not serve. */
  record: RecordFacts | { fault: string };
}

/** How often things happened in a period, by the names of `createTallyMeter`. */
export type Counts = Readonly<Record<string, number>>;

/** What the record knows of the fleet and its work. */
export interface RecordFacts {
  /** Workers that hold a lease now; undefined for a store without leases. */
  workers: number | undefined;
  /** Since closed workflows were last looked for; undefined if they never were. */
  sweptMs: number | undefined;
  /** What happened in the period. */
  counts: Counts;
  /** What happened in the same hours of each of the seven days before, the newest first. */
  week: readonly Counts[];
  waiting: { count: number; oldestMs: number | undefined };
  /** Agents that are paused, for a tenant or over all, and the runs that wait for them. */
  paused: { agents: readonly string[]; held: number };
}
