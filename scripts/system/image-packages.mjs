/**
 * Packages, or scopes of packages, that the Dockerfile copies into the image although npm lists them
 * for development only: they are optional peers of the package, and the image loads them on demand.
 */
export const IMAGE_PACKAGES = [
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai',
  '@ai-sdk/openai-compatible',
  '@opentelemetry',
  'nodemailer',
];

/** True for a package that is in the image beside those of production. */
export function isInImage(name) {
  return IMAGE_PACKAGES.some((each) => name === each || name.startsWith(`${each}/`));
}
