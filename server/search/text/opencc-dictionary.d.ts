/** Traditional characters with their simplified ones: `萬 万|與 与|…`; the package has no types for it. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string
  export default pairs
}

/** Japanese characters with their traditional ones: `万 萬|与 與|…`. */
declare module 'opencc-js/dict/JPShinjitaiCharacters' {
  const pairs: string
  export default pairs
}
