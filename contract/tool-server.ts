import { z } from 'zod'

/** A connected MCP server with the tools that it listed last. Its token is never shown again. */
export const toolServer = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string().nullable(),
  command: z.string().nullable(),
  last_four: z.string().nullable(),
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
})
export type ToolServer = z.infer<typeof toolServer>

/** Answer of `GET /api/tool-servers`; `commands` are those that the operator configured. */
export const toolServers = z.object({ servers: z.array(toolServer), commands: z.array(z.string()) })
export type ToolServers = z.infer<typeof toolServers>

const name = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9-]{0,23}$/, 'A name has small letters, digits and hyphens, at most 24.')

/** Body of `POST /api/tool-servers`. */
export const newToolServer = z.union([
  z.object({
    name,
    url: z.url({ protocol: /^https?$/, error: 'The address begins with https:// or http://.' }).max(500),
    token: z
      .string()
      .trim()
      .min(8, 'This is too short for a token.')
      .max(4_000)
      .regex(/^[\x21-\x7e]*$/, 'A token has no spaces and no special letters.')
      .optional(),
  }),
  z.object({ name, command: z.string().min(1).max(60) }),
])
export type NewToolServer = z.input<typeof newToolServer>

/** Body of `POST /api/tool-requests/{id}`: the answer to a consent request. */
export const toolAnswer = z.object({ answer: z.enum(['once', 'conversation', 'denied']) })
export type ToolAnswer = z.infer<typeof toolAnswer>['answer']

/** A tool call that waits for consent, in a live part of the reply. */
export const toolRequest = z.object({
  id: z.uuid(),
  server: z.string(),
  tool: z.string(),
  /** The arguments as JSON. */
  arguments: z.string(),
})
export type ToolRequest = z.infer<typeof toolRequest>
