#!/bin/sh
# Makes clip.mp4, the demo's test picture, with ffmpeg: eight seconds that join on to themselves. 240 pictures and 375
# frames of AAC are both eight seconds to the last sample; the sound comes one frame late, for the encoder begins with
# one of silence, which would come before the picture's first. The boxes at the top tell a picture's number in binary, lowest
# bit left, so that a program which looks at the screen knows when what it sees was sent.
set -eu
cd "$(dirname "$0")"
bits=
for bit in 0 1 2 3 4 5 6 7; do
  box="drawbox=x=$((40 + 72 * bit)):y=24:w=56:h=40:t=fill"
  bits="$bits,$box:color=black,$box:color=white:enable='mod(floor(n/$((1 << bit))),2)'"
done
ffmpeg -hide_banner -loglevel error -y \
  -f lavfi -i "smptehdbars=size=640x360:rate=30:duration=8" \
  -f lavfi -i "color=color=white:size=48x48:rate=30:duration=8" \
  -f lavfi -i "sine=frequency=500:beep_factor=2:sample_rate=48000:duration=8,volume=0.2" \
  -filter_complex "[0][1]overlay=x='(W+w)*mod(t\,4)/4-w':y='H/2-h/2'$bits,drawtext=text='%{eif\:floor(t)\:d}':fontsize=96:fontcolor=white:box=1:boxcolor=black:boxborderw=12:x=(w-tw)/2:y=h-120[picture]" \
  -map "[picture]" -map 2:a -af asetpts=PTS+1024 -frames:v 240 -frames:a 375 \
  -c:v libx264 -profile:v baseline -preset veryslow -tune zerolatency -crf 30 -g 30 -keyint_min 30 -sc_threshold 0 \
  -pix_fmt yuv420p -c:a aac -b:a 48k -ac 1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact -map_metadata -1 \
  -f mp4 -movflags empty_moov+frag_every_frame+default_base_moof+separate_moof clip.mp4
