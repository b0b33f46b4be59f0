import { z } from 'zod'

export const operatedPerson = z.object({
  id: z.uuid(),
  email: z.string().nullable(),
  created_at: z.string(),
  seen_at: z.string().nullable(),
  is_disabled: z.boolean(),
  /** False: invited, or the confirmation mail was not followed yet. */
  is_confirmed: z.boolean(),
  has_second_factor: z.boolean(),
  is_operator: z.boolean(),
  bytes: z.number(),
})
export type OperatedPerson = Readonly<z.infer<typeof operatedPerson>>

export const PEOPLE_PER_PAGE = 50

export const operatedPeople = z.object({ people: z.array(operatedPerson), total: z.int().nonnegative() })
export type OperatedPeople = z.infer<typeof operatedPeople>

export const operatedSetting = z.object({
  name: z.string(),
  explains: z.string(),
  value: z.string(),
  /** Stated in the environment of the server, so that the page cannot change it. */
  is_fixed: z.boolean(),
  is_changed: z.boolean(),
})
export type OperatedSetting = Readonly<z.infer<typeof operatedSetting>>

export const installationHealth = z.object({
  version: z.string(),
  database_bytes: z.number(),
  disk_free_bytes: z.number(),
  questions_waiting: z.number(),
  documents_waiting: z.number(),
  /** Null: none was made since the start, or none is scheduled. */
  backup_age_s: z.number().nullable(),
  has_backups: z.boolean(),
  backup_failed: z.boolean(),
  /** Name of the model that makes vectors; null: search uses words alone. */
  embeddings: z.string().nullable(),
})
export type InstallationHealth = Readonly<z.infer<typeof installationHealth>>

export const offeredModels = z.object({
  providers: z.array(z.object({ name: z.string(), host: z.string(), models: z.int().nonnegative() })),
})

export const installation = z.object({
  settings: z.array(operatedSetting),
  health: installationHealth,
  models: offeredModels,
})
export type Installation = z.infer<typeof installation>

export const testMailAnswer = z.object({ sent: z.boolean(), answer: z.string() })
export type TestMailAnswer = z.infer<typeof testMailAnswer>
