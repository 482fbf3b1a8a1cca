# Ordinary Perl: hashes, regular expressions, sorting, string building, subroutine calls.
use strict;
use warnings;

my $rounds = shift // 1;
my $state  = 12345;

sub next_number { return $state = ($state * 1103515245 + 12345) % 2147483648; }

my $total = 0;
for my $round (1 .. $rounds) {
    my %count;
    $count{ 'w' . (next_number() % 5000) }++ for 1 .. 20000;
    my $text = join ' ', map { "$_=$count{$_}" } sort keys %count;
    $total += () = $text =~ /w\d*7\d*=(\d+)/g;
    while ($text =~ /(\w+)=(\d+)/g) { $total += length($1) * $2; }
    my @numbers = sort { $a <=> $b } map { $_ * 7 % 1009 } 1 .. 5000;
    $total += $numbers[$_] * $_ % 13 for 0 .. $#numbers;
    (my $upper = $text) =~ tr/a-z/A-Z/;
    $upper =~ s/W(\d)/$1W/g;
    $total += length $upper;
}
print "$total\n";
