/** Replaces each module of Node that parsers may not use. Libraries import some of these names without calling them. */
function refuse(): never {
  throw Object.assign(new Error('a parser may not use this module of Node'), { code: 'ERR_ACCESS_DENIED' })
}

export { refuse as exec, refuse as execFile, refuse as execFileSync, refuse as execSync, refuse as fork }
export { refuse as spawn, refuse as spawnSync }
export default {}
