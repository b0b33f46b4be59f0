export const DEFAULT_BASE_URLS = {
  Anthropic: 'https://api.anthropic.com/v1',
  OpenAI: 'https://api.openai.com/v1',
} as const
