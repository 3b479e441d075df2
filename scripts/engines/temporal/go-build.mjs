// How programs are built from the Go modules that tools/temporal-cli pins.

export function goEnvironment(env) {
  return { ...env, CGO_ENABLED: '0', GOWORK: 'off' };
}

/** The same for every program, so that one uses the packages that were compiled for another. */
export function buildFlags(linkerFlags = '') {
  return ['-trimpath', '-ldflags', `-s -w${linkerFlags}`];
}

/** Go names each package that it has compiled: the only sign of progress that it gives. */
export function countPackages(progress) {
  let downloads = 0;
  let packages = 0;
  return (text) => {
    const lines = text.split('\n').filter(Boolean);
    const fetched = lines.filter((line) => line.startsWith('go: downloading')).length;
    downloads += fetched;
    packages += lines.length - fetched;
    progress.update(
      packages > 0 ? `${packages} packages compiled` : `${downloads} modules fetched`,
    );
  };
}
