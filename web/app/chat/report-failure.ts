import { loadRefusal } from '#web/data/load-refusal.ts'
import { toast } from '#web/ui/toast.tsx'

/** Shows the sentence of a refusal, or the description of a failure. */
export async function reportFailure(error: unknown, description: string): Promise<void> {
  console.error(error)
  toast({ title: 'Error', description: (await loadRefusal(error)) ?? description, variant: 'destructive' })
}
