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

/** A model that the installation pays for or runs. */
export const operatedModel = z.object({
  id: z.uuid(),
  name: z.string(),
  model_identifier: z.string(),
  provider: z.string(),
  is_offered: z.boolean(),
  /** The model of new conversations. */
  is_default: z.boolean(),
  /** False: an earlier model, which is not in the picker and still answers the conversations that use it. */
  is_listed: z.boolean(),
})
export type OperatedModel = Readonly<z.infer<typeof operatedModel>>

export const operatedModels = z.object({
  /** In the order of the picker; the host receives questions, null for this server itself. */
  providers: z.array(z.object({ name: z.string(), host: z.string().nullable() })),
  list: z.array(operatedModel),
  /** OFFERED_MODELS in the environment of the server names those that are offered. */
  are_fixed: z.boolean(),
})
export type OperatedModels = z.infer<typeof operatedModels>

/** More than any provider lists. */
export const MAX_OFFERED_AT_ONCE = 2_000

export const installation = z.object({
  settings: z.array(operatedSetting),
  health: installationHealth,
  models: operatedModels,
})
export type Installation = z.infer<typeof installation>

export const testMailAnswer = z.object({ sent: z.boolean(), answer: z.string() })
export type TestMailAnswer = z.infer<typeof testMailAnswer>
