/**
 * Packages that the Dockerfile copies into the image although npm lists them for development only:
 * they are optional peers of the package, and MODEL loads them in the image.
 */
export const IMAGE_PACKAGES = ['@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'];
