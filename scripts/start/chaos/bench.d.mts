// The types of bench.mjs, for the tests.

/** What ends with the fleet. */
interface Member {
  stop: () => void;
  kill: () => void;
}

export function openChaosBench(options: {
  url: string;
  kill: (name: string) => boolean;
  fleet: { add: (member: Member) => void };
}): Promise<string>;
