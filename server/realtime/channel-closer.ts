import type { Channel, Channels } from './channels.ts'
import type { Presences } from './presence.ts'
import type { Sender } from './sender.ts'

interface ChannelCloserOptions {
  readonly channels: Channels
  readonly sender: Sender
  readonly presences: Presences
}

export function createChannelCloser({ channels, sender, presences }: ChannelCloserOptions) {
  function remove(channel: Channel): void {
    channel.isOpen = false
    channel.connection.channels.delete(channel.topic)
    channels.remove(channel)
    void presences.untrack(channel)
  }

  function closeWithError(channel: Channel, text: string): void {
    remove(channel)
    sender.system(channel, { extension: 'system', status: 'error', message: text })
    sender.sendClose(channel)
  }

  return { remove, closeWith: closeWithError }
}
