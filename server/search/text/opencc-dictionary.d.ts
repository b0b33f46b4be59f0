/** Traditional characters with their simplified ones: `萬 万|與 与|…`; the package has no types for it. */
declare module 'opencc-js/dict/TSCharacters' {
  const pairs: string
  export default pairs
}
