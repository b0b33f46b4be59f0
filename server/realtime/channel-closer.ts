import type { Channel, Channels } from './channels.ts'
import type { FilterCounts } from './filter-counts.ts'
import type { Presences } from './presence.ts'
import type { Sender } from './sender.ts'
import type { Traffic } from './traffic.ts'

interface ChannelCloserOptions {
  readonly channels: Channels
  readonly filterCounts: FilterCounts
  readonly sender: Sender
  readonly presences: Presences
  readonly traffic: Traffic
}

export function createChannelCloser(options: ChannelCloserOptions) {
  const { channels, filterCounts, sender, presences, traffic } = options

  function remove(channel: Channel): void {
    if (!channel.isOpen) return
    channel.isOpen = false
    const { bindings, presenceBytes, connection } = channel
    traffic.release(connection.address, { channels: 1, bindings: bindings.length, presenceBytes })
    channel.presenceBytes = 0
    channel.connection.channels.delete(channel.topic)
    channels.remove(channel)
    filterCounts.remove(channel)
    void presences.leave(channel)
  }

  function closeWithError(channel: Channel, text: string): void {
    remove(channel)
    sender.system(channel, { extension: 'system', status: 'error', message: text })
    sender.sendClose(channel)
  }

  return { remove, closeWith: closeWithError }
}
