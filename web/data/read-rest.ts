import type { z } from 'zod'
import { HttpError, isUnreachable } from './client.ts'

type RestAnswer = { data: unknown; error: { message: string } | null; status: number }

/** The data of an answer of the data service. @throws HttpError without a server, else Error with the service's error as its cause */
export async function readRest<T>(schema: z.ZodType<T>, answer: PromiseLike<RestAnswer>): Promise<T> {
  const { data, error, status } = await answer
  if (error !== null) {
    const failure = new HttpError(status, error.message)
    throw isUnreachable(failure) ? failure : new Error(error.message, { cause: error })
  }
  return schema.parse(data)
}
