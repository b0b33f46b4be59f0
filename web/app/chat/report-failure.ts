import { describeFailure } from '#web/data/load-refusal.ts'
import { toast } from '#web/ui/toast.tsx'

export async function reportFailure(error: unknown, description: string): Promise<void> {
  toast(await describeFailure(error, description))
}
