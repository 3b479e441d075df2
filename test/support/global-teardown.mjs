export default async function globalTeardown() {
  await Promise.all(globalThis.helixTestEngines.map((engine) => engine.close()));
}
