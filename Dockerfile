# One image for both processes; the command says which one runs. Debian, because Temporal's native
# module is built for glibc and does not load on Alpine.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/install.mjs ./scripts/
COPY scripts/system ./scripts/system
RUN node scripts/install.mjs

FROM packages AS build
COPY . .
RUN node scripts/build.mjs

FROM packages AS runtime-packages
RUN npm prune --omit=dev --no-save

FROM node:24-bookworm-slim
# Temporal's native client reads the system's certificates, and the slim image has none.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=runtime-packages /app/node_modules ./node_modules
# Packages that settings and uploads need: optional for those who install the package, and so not of the runtime.
COPY --from=packages /app/node_modules/@ai-sdk/openai ./node_modules/@ai-sdk/openai
COPY --from=packages /app/node_modules/@ai-sdk/anthropic ./node_modules/@ai-sdk/anthropic
COPY --from=packages /app/node_modules/@ai-sdk/google ./node_modules/@ai-sdk/google
COPY --from=packages /app/node_modules/@ai-sdk/openai-compatible ./node_modules/@ai-sdk/openai-compatible
COPY --from=packages /app/node_modules/@opentelemetry ./node_modules/@opentelemetry
COPY --from=packages /app/node_modules/nodemailer ./node_modules/nodemailer
COPY --from=packages /app/node_modules/@fastify/busboy ./node_modules/@fastify/busboy
COPY --from=packages /app/node_modules/jose ./node_modules/jose
COPY --from=packages /app/node_modules/zod-openapi ./node_modules/zod-openapi
COPY --from=packages /app/node_modules/prom-client ./node_modules/prom-client
COPY --from=packages /app/node_modules/tdigest ./node_modules/tdigest
COPY --from=packages /app/node_modules/bintrees ./node_modules/bintrees
COPY --from=build /app/dist ./dist
COPY --from=build /app/scripts/temporal-ui ./scripts/temporal-ui
COPY package.json ./
USER node
EXPOSE 3000
CMD ["node", "dist/api/main.js"]
# The worker: ["node", "--max-semi-space-size=64", "dist/worker/main.js"]; the guard of the Temporal UI:
# ["node", "scripts/temporal-ui/main.mjs"]
