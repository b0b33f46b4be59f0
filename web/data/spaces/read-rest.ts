import type { z } from 'zod'

type RestAnswer = { data: unknown; error: { message: string } | null }

/** The data of an answer of the data service. @throws Error with the service's error as its cause */
export async function readRest<T>(schema: z.ZodType<T>, answer: PromiseLike<RestAnswer>): Promise<T> {
  const { data, error } = await answer
  if (error !== null) throw new Error(error.message, { cause: error })
  return schema.parse(data)
}
