/** Mean of the channels (0 to 255) below which a mark that only darkens is invisible. */
const DARK = 100

export function isDarkPage(drawing: HTMLCanvasElement | HTMLImageElement): boolean {
  const probe = document.createElement('canvas')
  probe.width = 16
  probe.height = 16
  const context = probe.getContext('2d', { willReadFrequently: true })
  if (!context) return false
  context.drawImage(drawing, 0, 0, probe.width, probe.height)
  const { data } = context.getImageData(0, 0, probe.width, probe.height)
  const colours = data.filter((_, index) => index % 4 !== 3)
  return colours.reduce((sum, value) => sum + value, 0) / colours.length < DARK
}
