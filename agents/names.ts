/** Names of agents and tools: what every provider accepts as the name of a function. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What is wrong with a name, as the end of a sentence; undefined if it can be used. */
export function findNameFault(name: unknown): string | undefined {
  return typeof name === 'string' && NAME.test(name)
    ? undefined
    : 'the name must be 1 to 64 letters, digits, "_" or "-"';
}
