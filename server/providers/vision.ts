interface Size {
  readonly width: number
  readonly height: number
}

/** Model families with vision. Few open endpoints list capabilities. */
const VISION_MODEL_NAMES =
  /gpt-(?:4o|4\.1|[5-9])|claude-(?:3|[a-z]+-\d)|gemini|llava|pixtral|moondream|minicpm-v|internvl|molmo|glm-\d(?:\.\d)?v|gemma-?[34]|llama-?4|mistral-(?:small|medium)-3|[-_.]vl(?:\b|_)|vision/i

export const isVisionModelName = (identifier: string): boolean => VISION_MODEL_NAMES.test(identifier)

const patches = ({ width, height }: Size, side: number): number => Math.ceil(width / side) * Math.ceil(height / side)

/** OpenAI's older models: fit into 2048 x 2048, shrink the short side to 768, count tiles of 512. */
function tiles({ width, height }: Size): number {
  const fitted = Math.min(1, 2_048 / Math.max(width, height))
  const scale = fitted * Math.min(1, 768 / (Math.min(width, height) * fitted))
  return patches({ width: width * scale, height: height * scale }, 512)
}

/** https://developers.openai.com/api/docs/guides/images-vision: the first matching name applies. */
const OPENAI_TOKENS: readonly (readonly [name: RegExp, tokens: (size: Size) => number])[] = [
  [/^gpt-4o-mini/, (size) => 2_833 + 5_667 * tiles(size)],
  [/^(?:gpt-4\.1|gpt-5)-nano/, (size) => 2.46 * patches(size, 32)],
  [/^(?:gpt-4\.1|gpt-5)-mini|^o4-mini/, (size) => 1.72 * patches(size, 32)],
  [/^(?:gpt-4|gpt-5$|gpt-5-|o\d)/, (size) => 85 + 170 * tiles(size)],
  [/^/, (size) => 1.2 * patches(size, 32)],
]

/**
 * Tokens of a picture. Anthropic counts pixels / 750, or patches of 28 pixels in newer models: takes the larger.
 * https://platform.claude.com/docs/en/build-with-claude/vision; OpenAI-compatible endpoints count similar patches.
 */
export function pictureTokens(provider: string | undefined, identifier: string, size: Size): number {
  const count = OPENAI_TOKENS.find(([name]) => provider === 'OpenAI' && name.test(identifier))?.[1]
  return Math.ceil(count?.(size) ?? Math.max((size.width * size.height) / 750, patches(size, 28)))
}
