// Resolves the peer dependencies of the compiled package from the folder of an app.
const PEERS = /^(react|@ai-sdk\/react)$/;
let places;

export function initialize(given) {
  places = given;
}

export function resolve(specifier, context, next) {
  const isOurs = context.parentURL?.startsWith(places.dist) && PEERS.test(specifier);
  if (!isOurs) return next(specifier, context);
  const peer = specifier === 'react' ? specifier : places.aiReact;
  return next(peer, { ...context, parentURL: places.app });
}
