/**
 * Everything that was started, to be stopped in the opposite order: nothing loses what it depends
 * on before it has ended itself.
 */
export function createFleet() {
  const members = [];
  return {
    add: (member) => members.push(member),
    /** For a member that has ended. */
    remove(member) {
      const at = members.indexOf(member);
      if (at >= 0) members.splice(at, 1);
    },
    /** Bounded: each member kills its process when that does not end in time. */
    async stop() {
      for (const member of members.toReversed()) await member.stop();
    },
    kill() {
      for (const member of members) member.kill();
    },
  };
}
