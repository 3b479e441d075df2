/** Different names of one kind that get a series of their own in one process. */
const MOST = 100;
const OTHER = 'other';

/**
 * Bounds the values of a label. Names of agents, models and tools come from definitions, but a
 * factory may make a definition for each user.
 */
export function createLabelNames(most: number = MOST): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= most) return OTHER;
    known.add(name);
    return name;
  };
}
