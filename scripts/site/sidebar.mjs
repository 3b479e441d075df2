/**
 * The pages of the site, by section: a document of the project, or a page that is made, and its title.
 * A document that is not listed is on the site all the same.
 */
export const SIDEBAR = [
  {
    text: 'Start',
    pages: [
      ['index', 'Quick start'],
      ['docs/install', 'Install'],
      ['docs/concepts', 'Concepts'],
      ['docs/failures', 'What may fail'],
      ['docs/peers', 'Beside its peers'],
    ],
  },
  {
    text: 'Guides',
    pages: [
      ['docs/agents', 'Agents'],
      ['docs/tools', 'Tools'],
      ['docs/mcp', 'MCP servers'],
      ['docs/approvals', 'Approvals'],
      ['docs/client-tools', 'Client tools'],
      ['docs/sub-agents', 'Sub-agents'],
      ['docs/busy', 'Messages meanwhile'],
      ['docs/schedules', 'Schedules'],
      ['docs/http', 'HTTP and pages'],
      ['docs/front-ends', 'Other front ends'],
      ['docs/compaction', 'Long conversations'],
      ['docs/authentication', 'Sign-in'],
      ['docs/in-process', 'In one process'],
      ['docs/extensions', 'Extensions'],
      ['docs/waiting', 'Tools that wait'],
      ['docs/files', 'Files in messages'],
      ['docs/testing', 'Testing agents'],
      ['docs/evaluation', 'Evaluation'],
      ['docs/from-ai-sdk', 'From the AI SDK'],
      ['docs/from-helix', 'From Helix'],
      ['docs/from-temporal', 'From Temporal'],
      ['docs/from-temporal-ai-sdk', 'From @temporalio/ai-sdk'],
    ],
  },
  {
    text: 'Operation',
    pages: [
      ['docs/deploying', 'Deploying'],
      ['docs/production', 'Recipes for production'],
      ['docs/deploys', 'Deploys'],
      ['docs/redis', 'Redis'],
      ['docs/operating', 'Operating'],
      ['docs/console', 'Console'],
      ['docs/notifications', 'Notifications'],
      ['docs/runbook', 'Runbook'],
      ['docs/cli', 'Command line'],
      ['docs/audit', 'Audit trail and erasure'],
      ['docs/threat-model', 'Threat model'],
      ['security', 'Reporting vulnerabilities'],
      ['docs/soak', 'Soak and rehearsal'],
    ],
  },
  {
    text: 'Reference',
    pages: [
      ['reference/index', 'Types'],
      ['docs/errors', 'Errors'],
      ['protocol', 'Stream protocol'],
      ['reference/states', 'States and events'],
      ['docs/architecture', 'Architecture'],
      ['docs/decisions/README', 'Decisions'],
      ['changelog', 'Changes'],
    ],
  },
];
