/** Who may import whom: the table of ARCHITECTURE.md, as rules. */
const allowed = {
  base: [],
  database: ['base'],
  blobs: ['base'],
  providers: ['base'],
  access: ['base', 'database'],
  jobs: ['base', 'database'],
  conversations: ['base', 'database'],
  search: ['base', 'database', 'jobs', 'providers'],
  parsing: ['base', 'search'],
  documents: ['base', 'database', 'jobs', 'blobs', 'search', 'parsing'],
  connections: ['base', 'database', 'providers'],
  assistant: ['base', 'database', 'providers', 'connections', 'conversations', 'search', 'parsing', 'documents'],
  auth: ['base', 'access', 'database'],
  rest: ['base', 'access', 'database'],
  realtime: ['base', 'access', 'database'],
  storage: ['base', 'access', 'database', 'blobs'],
  backup: ['base', 'access', 'database', 'blobs', 'jobs'],
  api: [
    'base',
    'access',
    'database',
    'providers',
    'connections',
    'conversations',
    'search',
    'documents',
    'jobs',
    'blobs',
  ],
}
const folders = (names) => `^server/(${names.join('|')})/`
const tests = '\\.(test|db\\.test|spec)\\.tsx?$'

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'contract-imports-only-zod',
      severity: 'error',
      from: { path: '^contract/', pathNot: tests },
      to: { pathNot: ['^contract/', 'node_modules/zod/'] },
    },
    { name: 'web-and-server-never-meet', severity: 'error', from: { path: '^web/' }, to: { path: '^server/' } },
    { name: 'server-and-web-never-meet', severity: 'error', from: { path: '^server/' }, to: { path: '^web/' } },
    ...Object.entries(allowed).map(([folder, may]) => ({
      name: `server-${folder}`,
      severity: 'error',
      from: { path: `^server/${folder}/`, pathNot: tests },
      to: { path: '^server/', pathNot: folders([folder, ...may]) },
    })),
    {
      name: 'parsing-uses-only-the-text-tools-of-search',
      severity: 'error',
      from: { path: '^server/parsing/', pathNot: tests },
      to: { path: '^server/search/', pathNot: '^server/search/text/' },
    },
    {
      name: 'only-main-imports-start',
      severity: 'error',
      from: { path: '^server/', pathNot: ['^server/(main\\.ts$|start/)', tests] },
      to: { path: '^server/(start/|main\\.ts$)' },
    },
    {
      name: 'only-start-imports-app-and-config',
      severity: 'error',
      from: { path: '^server/.+/', pathNot: ['^server/start/', tests] },
      to: { path: '^server/(app|config)\\.ts$' },
    },
    {
      name: 'web-lib-and-ui',
      severity: 'error',
      from: { path: '^web/(lib|ui)/([^/]+)', pathNot: tests },
      to: { path: '^web/', pathNot: '^web/(lib|ui)/' },
    },
    {
      name: 'web-data',
      severity: 'error',
      from: { path: '^web/data/', pathNot: tests },
      to: { path: '^web/', pathNot: '^web/(data|lib)/' },
    },
    {
      name: 'features-stay-apart',
      severity: 'error',
      from: { path: '^web/features/([^/]+)/', pathNot: tests },
      to: { path: '^web/features/', pathNot: '^web/features/$1/' },
    },
    {
      name: 'features-do-not-know-the-app',
      severity: 'error',
      from: { path: '^web/features/', pathNot: tests },
      to: { path: '^web/app/' },
    },
    {
      name: 'tables-of-encodings-stay-in-parsers',
      comment: 'They hold 23 MB of the process that detects an encoding.',
      severity: 'error',
      from: { path: '^server/main\\.ts$' },
      to: { path: 'node_modules/jschardet', reachable: true },
    },
    {
      name: 'tests-stay-outside',
      severity: 'error',
      from: { path: '^(server|contract|web)/', pathNot: tests },
      to: { path: '^(test|e2e|bench|scripts)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.css'],
    },
  },
}
