// The types of find-processes.mjs, for rehearsals.

export function findProcesses(commandEnd: string): Promise<number[]>;
