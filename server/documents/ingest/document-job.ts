import { z } from 'zod'
import type { JobRequest } from '#server/jobs/handler.ts'

export const documentJob = z.object({ documentId: z.uuid() })

export const requestFor = (documentId: string): JobRequest => ({ key: documentId, data: { documentId } })

export const EXPIRE_S = 3_600
