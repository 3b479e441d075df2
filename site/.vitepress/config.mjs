import { withMermaid } from 'vitepress-plugin-mermaid';
import { toSlug } from '../../scripts/links/find-broken-links.mjs';
import { toSearched } from '../../scripts/site/searched.mjs';
import { SIDEBAR } from '../../scripts/site/sidebar.mjs';

/** `npm run site` writes the pages; dead links between them end the build. */
export default withMermaid({
  title: 'helix-temporal',
  description: 'A durable runtime for AI agents that wait for people.',
  lang: 'en',
  srcDir: '.data/pages',
  outDir: 'dist',
  cacheDir: '.data/cache',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  lastUpdated: false,
  // What stands in angle brackets is text.
  markdown: { html: false, anchor: { slugify: toSlug }, toc: { level: [2] } },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: (text, env, md) => md.render(toSearched(text, env.relativePath), env),
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/' },
      { text: 'Concepts', link: '/docs/concepts' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Changes', link: '/changelog' },
    ],
    sidebar: SIDEBAR.map(({ text, pages }) => ({
      text,
      collapsed: text !== 'Start',
      items: pages.map(([link, title]) => ({ text: title, link: `/${link}` })),
    })),
  },
});
