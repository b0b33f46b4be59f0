/** Token counts below an answer; undefined if the provider reported none. */
export function describeTokenCounts(tokensIn: number | null, tokensOut: number | null): string | undefined {
  const parts = [...(tokensIn === null ? [] : [`${tokensIn} in`]), ...(tokensOut === null ? [] : [`${tokensOut} out`])]
  return parts.length === 0 ? undefined : parts.join(' · ')
}
