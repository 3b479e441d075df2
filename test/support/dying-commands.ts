type Methods<Of> = { [Name in keyof Of]: (...args: never[]) => unknown };

/** The commands of a process that dies after so many of them. */
export function dyingAfter<Of extends Methods<Of>>(count: number, commands: Of): Of {
  let left = count;
  return new Proxy(commands, {
    get:
      (of, name) =>
      (...args: never[]) => {
        left -= 1;
        if (left < 0) return Promise.reject(new Error('it has died'));
        return of[name as keyof Of](...args);
      },
  });
}
